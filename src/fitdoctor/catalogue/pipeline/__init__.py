"""tf.data pipelines, generators and loaders, and what judges of them read and edit."""
