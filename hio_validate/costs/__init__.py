"""What work costs at best: pure arithmetic on shapes, rates and intervals (contract 9.2, 9.3). No I/O, no repository.

Invariant: everything here is in base units (bytes, floating-point operations, seconds, tokens) and carries an interval.
"""
