"""The node: processes on processors, and a scheduler that a discipline of tasks is."""
