"""Files that are read and written, checked line by line: their formats, columns and rows."""
