"""Names of the columns that the package makes; each begins with a null character, so that no caller's is the same."""

# Of rows:
ORDER = "\0order"  # the number of a row in the whole frame, where rows of a piece have an order
TIMES = "\0times"  # how often a row occurs in a frame
ROW_CODE = "\0row code"  # the code of a row's values, without the id of the document
HAS_ROW = "\0has row"  # True for rows of the frame, in pieces that also have queries without rows
COMPUTED = "\0computed"  # the values of an expression, while it is computed

# Of rows that lists became:
WITHOUT_RESULTS = "\0without results"  # marks a row that stands for a query without results; these come last
ORIGIN = "\0origin"  # a sort key, if there are such rows: the position of each row's source row
RELEVANCE_KNOWN = (
    "\0relevance known"  # marks rows of a query with a list of relevant documents: judged, even if it is empty
)
LABEL = "\0label"  # the labels that ``relevant=`` makes: 1 for a listed document

SOURCE_ROW = "\0source"  # of judgments that lists became: the number of the row whose list held it
ANNOTATOR = "\0annotator"  # of judgments: the internal name of the key column that holds the annotator
OURS, THEIRS = "\0ours", "\0theirs"  # row numbers of two tables whose texts are compared

# The table of values: a row for each ranking of a piece. Besides the keys:
OF_LOG = "\0of log"  # whether the ranking is in the log
ANSWERED = "\0answered"  # whether it is answered
RESULTS = "\0results"  # whether it has results; of teams only
EVALUATED = "\0evaluated"  # whether it is evaluated
SEGMENT_KNOWN = "\0segment known"  # whether its segment is known
SYSTEM_NUMBER = "\0system"  # the number of its system
UNANSWERED = "\0unanswered"  # see ``Values.unanswered``
# Of each metric, whose number is appended to the name: its value, the counts of its table, its number of rows, the sums
# of the weights of its results and of their squares; with ``value=``, whether it has no number.
VALUE, COUNT, ROWS, WEIGHTS, ABSENT = "\0value:", "\0count:", "\0rows:", "\0weights:", "\0absent:"
FILLS = "\0fills:"
# Roles of queries, under the names of the roles; and the number of the cluster of each.
QUERY_VALUES = {"weight": "\0weight", "covariate": "\0covariate", "sampling": "\0sampling"}
CLUSTER = "\0cluster"
# In a row that stands for many rankings: how many are evaluated, and the sums for their averages.
SUMS = "\0sums"
DOCS, RANKS = "\0docs", "\0ranks"  # the documents and ranks of each list, for metrics of sets of lists
# In the first row of each system of a piece: its number of rankings, and of those whose query another system has too.
OF_SYSTEMS = ("\0rankings", "\0shared")

# Facts about a piece, in its first row:
GRADE = "\0grade"  # the largest grade
LABELLED = "\0labelled"  # whether there are labels
MATCHED = "\0matched"  # whether some judgment matched a row
FLAGS = "\0flags"  # whether ``relevant=`` holds flags, see ``_flags`` in data/unfolding.py
NAMES = "\0names"  # the systems of the piece, if those of other pieces are unknown
USED = "\0used"  # the rows of the judgments that the piece used
# Its queries that are judged with other leading zeros: of each a row of the judgments, as text, and both ids in quotes.
ZEROS = "\0zeros"
# Of its queries that some system lacks, for each query column of text: the length of the shortest id of digits, and of
# the longest that begins with 0; of sums alone.
LENGTHS = "\0lengths"
ZERO_DOCS = "\0zero docs"  # documents that are judged in their query with other leading zeros: both ids, in quotes
POSITIONS = "\0positions"  # the score columns whose values look like ranks there
SCORES = "\0scores"  # the score columns whose values do not
SHARES = "\0shares"  # the number of grades strictly between 0 and 1
LOWEST = "\0lowest"  # the lowest grades
GROUPS = "\0groups"  # the groups of documents
NONPOSITIVE = "\0nonpositive"  # whether some judgment is 0 or below
SPELLED = "\0spelled"  # the texts of ``Log.spelled``
# And the number of rows of the longest ranking, of all rows, and of the queries.
SIZES = LONGEST, HEIGHT, QUERIES = "\0longest", "\0height", "\0queries"
FACTS = (POSITIONS, SCORES, SHARES, LOWEST, GROUPS, SPELLED, NONPOSITIVE, *SIZES)

# Where the rows of a cluster are:
STRANGE = "\0strange"  # the errors if no judgment of a piece matched: for its queries, and for its documents
LACKED = "\0lacked"  # the rows of the judgments whose query is in this piece and has no rows
SYSTEM_NAME = "\0name"  # the names of all systems
# Marks rows of some queries that are asked for; false in rows with a grade only, null in rows with a system only.
MINE = "\0mine"

# Of an audit: columns, or prefixes of columns, of extra rows that are not rankings.
NOTE, SIDE = "\0note", "\0side:"
AMOUNT = "\0amount:"  # the prefix of the columns with the amounts of each ranking (``Counted.amounts``)
RESULTS_LEFT = "\0results left"  # the count of results without errors
ROWS_LEFT = "\0rows left"  # the count of rows of the table without errors
FRAME = "\0frame"  # the count of rows of the frame

# Of an impression, besides the caller's: the row of the log; the number of the segment; the first row of the
# impression; the rank; 1 for each shown row; whether it was clicked; whether it was examined (down to the lowest
# click); whether it is the lowest click; its propensity.
INSIDE = ("\0row", "\0arm", "\0first", "\0rank", "\0shown", "\0clicked", "\0examined", "\0last", "\0chance")
EXPOSED = "\0exposed"  # the denominator of the click rate: impressions, expected clicks, or examined results
# Of a document at two ranks: its click rate at the higher one, and its rate and rank at the lower one.
RATE, OTHER, BELOW = "\0rate", "\0rate\0below", "\0rank\0below"

THERE = "\0there"  # marks the documents to judge of a piece, which has a row for its facts if it has none

TEXT_OF_PANEL = "\0panel"  # values as texts, while their panel is drawn
