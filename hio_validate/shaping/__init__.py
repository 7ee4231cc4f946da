"""What a model is made of, from what its configuration says: pure arithmetic on dimensions. No I/O, no repository.

Read from files by observe/model_shape.py, computed again by the rule shape-contradicts-itself.
"""
