"""hio: keep what serves a model as reviewed YAML, and block every undocumented difference."""

__version__ = "0.1.0"
