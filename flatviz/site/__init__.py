"""The site: notebooks run in one process, and the pages made of them."""
