"""Problems: where they come from, how they are prepared for training, and how they are put to a model."""
