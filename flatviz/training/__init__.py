"""Training loops on flat weight vectors."""
