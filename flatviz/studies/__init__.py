"""The research questions, computed: evidence, comparison, search, transfer, symmetries, averaging, temperature, reference."""
