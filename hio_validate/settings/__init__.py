"""What a process really runs with: families of engines, the settings they know, where a value comes from."""
