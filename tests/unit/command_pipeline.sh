# A job as a server runs it: a log is written, measured, held against gates, and broken. Run in an empty folder, with
# frame-metrics and python on the PATH. Each step says what it expects; the first that does not get it ends the script.
set -u

expect() { # the exit code, then the command; what it prints is in the files out and err
    local code=$1 got
    shift
    "$@" > out 2> err
    got=$?
    if [ "$got" != "$code" ]; then
        echo "$*: expected $code, got $got"
        cat err
        exit 1
    fi
}

has() { # a file, and a text that stands in it
    grep -qF -- "$2" "$1" || { echo "no '$2' in $1:"; cat "$1"; exit 1; }
}

write_log() { # the file, and the rank of the relevant one of ten documents
    python - "$1" "$2" << 'PYTHON'
import sys
rank = int(sys.argv[2])
with open(sys.argv[1], "w") as file:
    file.write("query,doc,score,grade\n")
    for query in range(50):
        for place in range(1, 11):
            file.write(f"q{query},d{place},{10 - place},{int(place == rank)}\n")
PYTHON
}

echo "a week is saved, and passes its gates"
write_log monday.csv 1
expect 0 frame-metrics per-query monday.csv rr ndcg@10 -o monday.parquet
expect 0 frame-metrics evaluate monday.csv rr --fail-under rr=0.9 --fail-if-worse-than monday.parquet
has out "rr,,macro,1.0,50,0"
expect 0 frame-metrics audit monday.csv --fail-on error

echo "the next week is worse, and fails both gates"
write_log tuesday.csv 4
expect 1 frame-metrics evaluate tuesday.csv rr --fail-under rr=0.9 --fail-if-worse-than monday.parquet --junit gates.xml
has out "rr,,macro,0.25,50,0"
has err "frame-metrics: gate failed: rr is 0.25, under 0.9"
has err "frame-metrics: gate failed: rr is 0.25 against 1.0: a difference of -0.75"
has gates.xml 'failures="2"'

echo "a broken log is bad data, which no gate hides"
{ cat monday.csv; echo "q0,d99,nan,1"; } > broken.csv
expect 2 frame-metrics evaluate broken.csv rr --fail-under rr=0.1
has err "score: 1 of 501 rows"
test ! -s out || { echo "a result was printed beside an error"; exit 1; }
expect 1 frame-metrics audit broken.csv --fail-on error
expect 2 frame-metrics evaluate missing.csv rr
has err "missing.csv: there is no such file"

echo "commands follow each other in pipes"
set -o pipefail
gzip -c monday.csv | frame-metrics evaluate - rr --from csv --to json > out 2> err || exit 1
has out '"value":1.0'
frame-metrics convert monday.csv | frame-metrics per-query - rr --from csv | head -n 1 > out 2> err || exit 1
has out "query,metric,k,value"
test ! -s err || { echo "a closed pipe was not quiet:"; cat err; exit 1; }

echo "what is killed half-way leaves the old file, and no half of a new one"
python - << 'PYTHON'
import polars as pl
pl.DataFrame({"query": range(3_000_000)}).with_columns(text=pl.col("query").cast(pl.String)).write_parquet("big.parquet")
PYTHON
mkdir results
for signal in TERM KILL; do
    echo old > results/big.csv
    frame-metrics convert big.parquet -o results/big.csv 2> err &
    job=$!
    while kill -0 $job 2> no && [ -z "$(find results -name '.*.tmp' -size +0)" ]; do sleep 0.01; done
    kill -$signal $job 2> no || { echo "the job was over before it could be stopped"; exit 1; }
    wait $job 2> no
    got=$?
    [ "$got" = "$((128 + $(kill -l $signal)))" ] || { echo "$signal: exit code $got"; cat err; exit 1; }
    [ "$(cat results/big.csv)" = old ] || { echo "$signal: the file was changed"; exit 1; }
done
echo fine
