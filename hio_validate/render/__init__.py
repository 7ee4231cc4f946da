"""What a stack becomes at its site, for the program that starts it: files, rendered, read back and stamped."""
