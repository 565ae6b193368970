"""Options that are neither roles nor parameters of verbs: their kinds, and what help says of them."""

from frame_metrics.command.options import ON, SWITCH, Kind, bounds, number, one_of, shares
from frame_metrics.command.reading import READ, checked_names
from frame_metrics.command.writing import WRITTEN

FILE, NAME, COLUMN = (Kind(metavar, texts=True) for metavar in ("FILE", "NAME", "COLUMN"))
TEXTS, NAMES, METRICS = (Kind(metavar, list, many=True, texts=True) for metavar in ("VALUE", "NAME", "METRIC"))
INPUTS = Kind("FILE", checked_names, many=True, texts=True)
LIMITS = Kind("METRIC=VALUE", shares, many=True)


class Input:
    """Options of the input.

    Parameters
    ----------
    input : a file to read: Parquet, CSV, TSV, JSON, JSON lines, Arrow, a run or qrels of TREC, text also packed by
        gzip; a folder, whose folders may be called as day=monday; a pattern, in quotes; - for standard input
    from : the format of the input, where its name does not say it
    """

    input = INPUTS
    from_ = one_of(READ)


class Output:
    """Options of the file that is written.

    Parameters
    ----------
    output : the file to write, in the format of its ending, as .parquet .csv .tsv .json .jsonl .arrow .md .html, and
        with convert .run .qrels; one that is there is replaced once the new one is whole
    to : the format to write: a table where standard output is a terminal, else CSV, which any program reads
    formulas : of CSV and TSV: 'text' puts an apostrophe before texts that a spreadsheet would run, as =cmd(), 'keep'
        leaves them; by default text, and with convert keep
    """

    output = FILE
    to = one_of([*WRITTEN])
    formulas = one_of(["text", "keep"])


class Shown:
    """Options of a result that is printed.

    Parameters
    ----------
    columns : the columns to print, in this order; behind commas, or repeated
    sort : the columns to sort by; --sort=-value begins with the greatest
    digits : significant digits of numbers; by default 6 in tables, else all
    header : a line with the names of columns, in CSV, TSV and tables
    """

    columns = TEXTS
    sort = TEXTS
    digits = Kind("N", number)
    header = ON


class Reported:
    """Options of a report.

    Parameters
    ----------
    output : the file to write, .html, .md or .json; else it is printed
    """

    output = FILE


class Run:
    """Options of a run of TREC.

    Parameters
    ----------
    run_name : the name of a run of TREC, where no column called run has it
    """

    run_name = NAME


class Qrels:
    """Judgments in a file of their own.

    Parameters
    ----------
    qrels : the judgments; --grade and --label are then theirs; a name that does not say the format is that of TREC
        qrels
    qrels_from : their format, where the name does not say it
    qrels_query : their column of queries
    qrels_doc : their column of documents
    all_relevant : each of their rows is relevant, as in a held-out set
    """

    qrels = INPUTS
    qrels_from = one_of(READ)
    qrels_query = COLUMN
    qrels_doc = COLUMN
    all_relevant = SWITCH


class Gates:
    """Options of gates.

    Parameters
    ----------
    fail_under : fail where a value is less than this, or undefined, in any system or segment; may be repeated
    fail_over : fail where a value is greater than this, or undefined, as of metrics of which less is better
    fail_if_worse_than : fail where a metric is worse than saved numbers, which per-query wrote, and p_adjusted is at
        most --alpha
    alpha : the level of --fail-if-worse-than, by default 0.05
    fail_on : fail where there is a finding of this severity (error, warning, info) or a graver one; or more of a check,
        or of any of a severity, than a number (duplicates=0) or a share (queries without judgments=2%); may be repeated
    junit : a file of JUnit to write, with a case for each gate and row
    """

    fail_under = LIMITS
    fail_over = LIMITS
    fail_if_worse_than = FILE
    alpha = Kind("LEVEL", number)
    fail_on = Kind("[CHECK=]BOUND", bounds, many=True)
    junit = FILE


class Against:
    """Options of comparisons.

    Parameters
    ----------
    saved : saved numbers to compare with, which per-query wrote
    saved_system : the system whose saved numbers are taken, where they are of several
    baseline : the system that others are compared with, or several
    split : the share of units that an arm should have
    """

    saved = FILE
    saved_system = NAME
    baseline = NAMES
    split = Kind("ARM=SHARE", shares, many=True)


class Asked:
    """Options beside the arguments.

    Parameters
    ----------
    metric : a metric, beside those named behind the input
    """

    metric = METRICS
