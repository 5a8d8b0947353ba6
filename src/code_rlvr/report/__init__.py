"""The report of a run: one HTML file that opens from disk, and the catalogue of every metric in it.

`html` puts the page together.  `inputs` and `verdict_records` read a run's folder; `chart_section`, `solve_map`,
`program_section`, `health_section`, `evaluation` and `facts` make the parts of the page; `headline` says what changed.
`compare` puts several runs side by side, `watch` serves the page while a run goes on, `as_text` and `as_json` are for
terminals and programs.  Nothing here imports torch or verl.
"""
