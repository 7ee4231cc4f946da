"""The checks of a live process against its stack, by where each is seen; execute/verify.py makes them."""
