"""Import the wheel where nothing else is installed than what it needs, and measure. .ci/run and release.yml run it."""

import pandas
import polars

import frame_metrics

log = {"query": [1, 1], "score": [2.0, 1.0], "grade": [0, 1]}
for frame in (pandas.DataFrame(log), polars.DataFrame(log)):
    assert frame.irm.evaluate("rr")["value"][0] == 0.5
print("frame_metrics", frame_metrics.__version__, "alone is imported and measures")
