"""Causes in tf.data pipelines, generators and loaders, and the analysis and edits they share."""
