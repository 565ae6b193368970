"""Commands and options that readers type first, what they mean here, and the way out that an error names."""
