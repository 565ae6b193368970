"""Gates: limits for numbers and findings, the outcome of each, and the formats in which they are told."""
