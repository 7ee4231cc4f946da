"""What a live process is: /proc, sockets, HTTP, GGUF headers, log facts. Read-only; sends nothing but GET."""
