"""The model file: safetensors with options as JSON; no pickle."""
