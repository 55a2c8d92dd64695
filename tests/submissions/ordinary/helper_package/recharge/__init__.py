from .drift import advance

__all__ = ["advance"]
