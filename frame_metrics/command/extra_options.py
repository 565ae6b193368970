"""Options that are neither roles nor parameters of verbs: their kinds, and what help says of them."""

from frame_metrics.command.files.conditions import conditions
from frame_metrics.command.files.formats import READ
from frame_metrics.command.files.reading import checked_names
from frame_metrics.command.files.writing import WRITTEN
from frame_metrics.command.options import (
    ON,
    SWITCH,
    Kind,
    bounds,
    gate_limits,
    grades,
    literal,
    losses,
    number,
    one_of,
    split_shares,
)
from frame_metrics.command.periods import day, period

FILES = Kind("FILE", list, many=True, texts=True)
FILE, NAME, COLUMN = (Kind(metavar, texts=True) for metavar in ("FILE", "NAME", "COLUMN"))
TEXTS, NAMES, METRICS = (Kind(metavar, list, many=True, texts=True) for metavar in ("VALUE", "NAME", "METRIC"))
INPUTS = Kind("FILE", checked_names, many=True, texts=True)
LIMITS = Kind("METRIC=VALUE", gate_limits, many=True)


class Input:
    """Options of the input.

    Parameters
    ----------
    input : a file to read: Parquet, CSV, TSV, JSON, JSON lines, Arrow, a TREC run or qrels, text also as .gz; a folder,
        which may contain folders like day=monday; a pattern, in quotes; - for standard input
    from : the format of the input, if its name does not show it
    where : only rows of the input for which this holds, as device=phone, score!=0 or day>=2026-03-01; repeat it for
        several columns, all of which have to hold, or for several values of one
    """

    input = INPUTS
    from_ = one_of(READ)
    where = Kind("COLUMN=VALUE", conditions, many=True, texts=True)


class OfPeriods:
    """Options of columns of dates.

    Parameters
    ----------
    every : the length of periods, as 1d, 1w, 1mo, 1q or 1y: the dates or times of --by, or of --arm, become the first
        days of their periods
    since : the first day of the later of two periods, as 2026-03-01: the dates or times of --arm become the names of
        both, before and since; rows without one are left out
    """

    every = Kind("PERIOD", period)
    since = Kind("DATE", day)


class Output:
    """Options of the file that is written.

    Parameters
    ----------
    output : the file to write, in the format of its ending, as .parquet .csv .tsv .json .jsonl .arrow .md .html, and
        with convert .run .qrels; a complete new file replaces an existing one; repeat it for several files
    to : the format to write: by default a table for a terminal, else CSV, which any program reads
    formulas : for CSV and TSV: 'text' puts an apostrophe before text that a spreadsheet would run, as =cmd(), 'keep'
        leaves it; by default text, and with convert keep
    """

    output = FILES
    to = one_of([*WRITTEN])
    formulas = one_of(["text", "keep"])


class PrintOptions:
    """Options of a result that is printed.

    Parameters
    ----------
    columns : the columns to print, in this order; separated by commas, or repeated
    sort : the columns to sort by; --sort=-value sorts in descending order
    digits : significant digits of numbers; by default 6 in tables, else all
    header : a header line, in CSV, TSV and tables
    """

    columns = TEXTS
    sort = TEXTS
    digits = Kind("N", number)
    header = ON


class Reported:
    """Options of a report.

    Parameters
    ----------
    output : the file to write, .html, .md or .json; repeat it for several; by default the report is printed
    """

    output = FILES


class Run:
    """Options of a run of TREC.

    Parameters
    ----------
    run_name : the name of the TREC run, if no column called run has it
    """

    run_name = NAME


class Qrels:
    """Judgments in a separate file.

    Parameters
    ----------
    qrels : the judgments; --grade and --label then name their columns; TREC qrels, unless the file name shows another
        format
    qrels_from : their format, if the name does not show it
    qrels_query : the query column of the judgments
    qrels_doc : the document column of the judgments
    all_relevant : every row of the judgments is relevant, as in a held-out set
    proxy : judgments of a machine, of the queries of --qrels, which people judged and which were drawn at random, and
        of many more, in columns of the same names: means and differences are those of people with its help
    proxy_grade : the column of the machine's grades, or labels, if it has another name
    proxy_rel : the least of its grades that is relevant, if it is another one
    proxy_scale : the grade that a word of the machine stands for; may be repeated
    """

    qrels = INPUTS
    qrels_from = one_of(READ)
    qrels_query = COLUMN
    qrels_doc = COLUMN
    all_relevant = SWITCH
    proxy = FILE
    proxy_grade = COLUMN
    proxy_rel = Kind(read=literal)
    proxy_scale = Kind("WORD=GRADE", grades, many=True)


class Gates:
    """Options of gates.

    Parameters
    ----------
    fail_under : fail if a value is less than this, or undefined, in any system or segment; may be repeated; the
        number alone is for one metric
    fail_over : fail if a value is greater than this, or undefined, for metrics where less is better
    fail_if_worse_than : fail if a metric is worse than in the log of this file, or than the numbers that per-query
        wrote of it, and p_adjusted is at most --alpha, or with --margin if it is surely worse by more than that, or
        with --max-drop if its mean is, surely or not; in compare, ab-test and change it may also be a system or an arm
        of the log
    max_drop : the greatest loss of a mean that --fail-if-worse-than accepts; or one number for all metrics
    not_worse_than : fail unless each metric is shown not to be worse than in the log of this file, or than the numbers
        that per-query wrote of it, by more than its --margin: p_not_worse is at most --alpha; too few data to tell
        have an exit code of their own; in compare, ab-test and change it may also be a system or an arm of the log
    alpha : the level of --fail-if-worse-than and --not-worse-than, by default 0.05
    fail_on : fail if there is a finding of this severity (error, warning, info) or a more severe one; or if a check, or
        any check of a severity, counts more than a number (duplicates=0) or a share (queries without judgments=2%); may
        be repeated
    junit : a JUnit file to write, with a case for each gate and row
    """

    fail_under = LIMITS
    fail_over = LIMITS
    fail_if_worse_than = FILE
    max_drop = Kind("METRIC=VALUE", losses, many=True)
    not_worse_than = FILE
    alpha = Kind("LEVEL", number)
    fail_on = Kind("[CHECK=]BOUND", bounds, many=True)
    junit = FILE


class Against:
    """Options of comparisons.

    Parameters
    ----------
    saved : the log of before to compare with, or the numbers that per-query wrote of it
    saved_system : the system to use from the saved numbers, if they have several
    baseline : the system, arm or period that others are compared with, or several
    split : the share of units that an arm should have; or equal, for all arms
    margin : the loss of a metric that would still be accepted, also by gates on saved numbers, which adds p_not_worse
        and p_equivalent; or one number for all metrics
    """

    saved = FILE
    saved_system = NAME
    baseline = NAMES
    split = Kind("ARM=SHARE", split_shares, many=True)
    margin = Kind("METRIC=VALUE", losses, many=True)


class Asked:
    """Options in addition to the arguments.

    Parameters
    ----------
    metric : a metric, in addition to those after the input
    """

    metric = METRICS
