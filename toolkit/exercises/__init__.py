"""The ``check_...`` functions of the notebooks' exercises, one module per notebook."""
