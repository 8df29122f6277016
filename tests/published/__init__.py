"""What `make docs` makes from the sources: each module here offers `pages()`, files and the text they must have."""
