"""Which groups of a model's terms does it need?"""
