"""Whole games through the public interface alone, then every promise checked: `python -m tests.demo`."""
