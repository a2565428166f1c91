"""What is shown in a terminal: progress, and text without control characters."""
