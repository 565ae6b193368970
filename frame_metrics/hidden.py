"""Names of the columns that the package makes; each begins with a null character, so that no caller's is the same."""

# Of rows: the number of each in the whole frame, where rows of a piece have an order; how often a row occurs in a
# frame; True for rows of the frame, in pieces that also have queries without rows; an expression while it is computed.
ORDER, TIMES, HAS_ROW, MADE = "\0order", "\0times", "\0has row", "\0made"
# Of rows that lists became: marks a row that stands for a query without results, these come last; a sort key, the
# position of each row's source row, if there are such rows; marks rows of a query that is judged even if it has no
# judged document; the labels that ``relevant=`` makes: 1 for a listed document.
WITHOUT_RESULTS, ORIGIN, RELEVANCE_KNOWN, LABEL = "\0empty", "\0origin", "\0known", "\0label"
SOURCE_ROW = "\0source"  # of judgments that lists became: the number of the row whose list held it
ANNOTATOR = "\0annotator"  # of judgments: the internal name of the key column that holds the annotator
OURS, THEIRS = "\0ours", "\0theirs"  # row numbers of two tables whose texts are compared

# The table of values: a row for each ranking of a piece. Besides the keys: whether the ranking is in the log, is
# answered, has results (of teams only), is evaluated, and has a known segment; the number of its system; see
# ``Values.unanswered``.
OF_LOG, ANSWERED, RESULTS, EVALUATED, PLACED = "\0own", "\0answered", "\0results", "\0evaluated", "\0placed"
SYSTEM, UNANSWERED = "\0system", "\0unanswered"
# Of each metric, whose number is appended to the name: its value, the counts of its table, its number of rows, the sums
# of the weights of its results and of their squares; with ``value=``, whether it has no number.
VALUE, COUNT, ROWS, WEIGHTS, ABSENT = "\0value:", "\0count:", "\0rows:", "\0weights:", "\0absent:"
FILLS = "\0fills:"
# Roles of queries: the columns with the values of a role, and that of clusters, which have their names.
QUERY_VALUES = {"weight": "\0weight", "covariate": "\0covariate", "sampling": "\0sampling"}
CLUSTER = "\0cluster"
# In a row that stands for many rankings: how many are evaluated, and the sums for their averages.
SUMS = "\0sums"
DOCS, RANKS = "\0docs", "\0ranks"  # the documents and ranks of each list, for metrics of sets of lists
# In the first row of each system of a piece: its number of rankings, and of those whose query another system has too.
OF_SYSTEMS = ("\0rankings", "\0shared")

# Facts about a piece, in its first row: the largest grade, whether there are labels, whether some judgment matched a
# row, whether ``relevant=`` holds flags (see ``_flags`` in data/unfolding.py).
GRADE, LABELLED, MATCHED, FLAGS = "\0grade", "\0labelled", "\0matched", "\0flags"
# Facts too: the systems of the piece, if those of other pieces are unknown; the rows of the judgments that it used.
NAMES, USED = "\0names", "\0used"
# Facts too: the score columns whose values look like ranks there, those whose values do not, the number of grades
# strictly between 0 and 1 (shares), the lowest grades, the groups of documents; whether some judgment is not above 0;
# the texts of ``Log.spelled``.
POSITIONS, SCORES, SHARES, LOWEST, GROUPS = "\0positions", "\0scores", "\0shares", "\0lowest", "\0groups"
NEGATIVE, SPELLED = "\0negative", "\0spelled"
# And the number of rows of the longest ranking, of all rows, and of the queries.
SIZES = LONGEST, HEIGHT, QUERIES = "\0longest", "\0height", "\0queries"
FACTS = (POSITIONS, SCORES, SHARES, LOWEST, GROUPS, SPELLED, NEGATIVE, *SIZES)

# Where the rows of a cluster are: the error if no judgment of a piece matched, for its queries and for its documents;
# the names of all systems.
STRANGE, SYSTEM_NAME = "\0strange", "\0name"
# Marks rows of some queries that are asked for; false in rows with a grade only, null in rows with a system only.
MINE = "\0mine"

# Of an audit: columns, or prefixes of columns, of extra rows that are not rankings; the prefix of the columns with the
# amounts of each ranking (``Counted.amounts``); the counts of results without errors, of rows of the table without
# errors, and of rows of the frame.
NOTE, SIDE, AMOUNT = "\0note", "\0side:", "\0amount:"
RESULTS_LEFT, ROWS_LEFT, FRAME = "\0results left", "\0left", "\0frame"

# Of an impression, besides the caller's: the row of the log; the number of the segment; the first row of the
# impression; the rank; 1 for each shown row; whether it was clicked; whether it was examined (down to the lowest
# click); whether it is the lowest click; its propensity.
INSIDE = ("\0row", "\0arm", "\0first", "\0rank", "\0shown", "\0clicked", "\0examined", "\0last", "\0chance")
EXPOSED = "\0exposed"  # the denominator of the click rate: impressions, expected clicks, or examined results
# Of a document at two ranks: its click rate at the higher one, and its rate and rank at the lower one.
RATE, OTHER, BELOW = "\0rate", "\0rate\0below", "\0rank\0below"

THERE = "\0there"  # marks the documents to judge of a piece, which has a row for its facts if it has none

TEXT_OF_PANEL = "\0panel"  # values as texts, while their panel is drawn
