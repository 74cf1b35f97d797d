"""The worker daemon: lease a trial, train it in a child process, report, repeat."""
