"""The report of a run: one HTML file that opens from disk, and the catalogue of every metric in it.

`html` puts the parts together: `inputs` reads the run's folder, `charts` draws `curves`, `evaluation` and
`headline` say what changed, `programs` shows samples.  Nothing here imports torch or verl.
"""
