"""The parts of tools/experiments: descriptions of experiments, their runs, their results, and the pages made from them."""
