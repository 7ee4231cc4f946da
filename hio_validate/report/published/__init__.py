"""What is published about a run: who serves, what was chosen and why, how far that may be relied on (contract 12.4).

One module says what is told (run.py), each of the others one part of it; page.py renders it. Another kind of subject,
such as a campaign of several runs, is a shape of its own with the keys of `page.HEAD`, and a list of its sections.
"""
