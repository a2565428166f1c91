"""What a careful analyst would check, draw and promise."""
