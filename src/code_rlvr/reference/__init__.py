"""Pages of the guide that are made from the code, so that they cannot say anything else: commands and configuration.

Write them anew with::

    python -m code_rlvr.reference docs/reference

Not covered: metrics, whose page comes from `report.catalogue`.
"""
