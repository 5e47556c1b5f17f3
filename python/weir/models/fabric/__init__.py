"""The fabric: virtual channels over links with credits, where nothing is ever dropped."""
