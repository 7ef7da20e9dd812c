"""Experiments: data sets x methods x seeds from one file, run task by task, resumable, and reported."""

from askless.exceptions import ExperimentError
from askless.experiments.config import Experiment, read_experiment
from askless.experiments.results import read_results
from askless.experiments.running import run_task
from askless.experiments.task import Task

__all__ = ["Experiment", "ExperimentError", "Task", "read_experiment", "read_results", "run_task"]
