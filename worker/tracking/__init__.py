"""Trackers: what people already look at trainings with, told of every attempt of a worker."""

from worker.tracking.chosen import NoTracker, chosen
from worker.tracking.tracking import Began, Ended, Reported, Tracked, Tracker, Tracking, place

__all__ = [
    "Began",
    "Ended",
    "NoTracker",
    "Reported",
    "Tracked",
    "Tracker",
    "Tracking",
    "chosen",
    "place",
]
