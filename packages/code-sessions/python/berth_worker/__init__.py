"""The worker of a code session. `main.serve` is where it begins."""
