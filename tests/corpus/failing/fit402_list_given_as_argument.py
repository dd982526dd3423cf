import tensorflow as tf

@tf.function
def forward(x, outs):
    h = tf.nn.relu(x)
    outs.append(h)  # <- FIT402
    return tf.reduce_sum(h)

acts = []
for _ in range(2):
    forward(tf.random.normal((4, 4)), acts)
