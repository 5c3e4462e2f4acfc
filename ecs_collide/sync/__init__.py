"""Copy numbers between components and the body table."""
