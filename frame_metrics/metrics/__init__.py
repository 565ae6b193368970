"""Every metric as a value: ``frame_metrics.metrics.ndcg(gain="exp") @ 10``."""

from frame_metrics.metrics.classes import *  # noqa: F403
from frame_metrics.metrics.clicks import *  # noqa: F403
from frame_metrics.metrics.confusion import *  # noqa: F403
from frame_metrics.metrics.intents import *  # noqa: F403
from frame_metrics.metrics.off_policy import *  # noqa: F403
from frame_metrics.metrics.ranking import *  # noqa: F403
from frame_metrics.metrics.scores import *  # noqa: F403
from frame_metrics.metrics.sets_of_lists import *  # noqa: F403
from frame_metrics.metrics.similarity import *  # noqa: F403
from frame_metrics.metrics.user_models import *  # noqa: F403
