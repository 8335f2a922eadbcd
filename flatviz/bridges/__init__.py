"""Other people's tools, spoken to in their language, answered in ours."""
