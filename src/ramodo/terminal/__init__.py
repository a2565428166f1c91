"""Output on a terminal: progress, and text with control characters escaped."""
