"""What training is made of beside a network, its data and an optimizer."""
