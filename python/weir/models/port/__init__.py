"""The port: messages at one point of contention, in packets that take turns."""
