"""What is published about a run or a campaign: who serves, what was chosen and why, how far that may be relied on (contract 12.4).

`run.py` and `campaign.py` say what is told, the others one part of it; `page.py` has the page of each kind: the first lines
and a list of sections. Another subject is a shape with the keys of `page.HEAD`, a page, and an entry in cli/report.py.
"""
