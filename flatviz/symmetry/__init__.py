"""Maps of the weights that leave the function unchanged, their removal, and posteriors once equal networks are counted once."""
