"""The command line as ``python -m frame_metrics``."""

import sys

from frame_metrics.command import main

if __name__ == "__main__":
    sys.exit(main())
