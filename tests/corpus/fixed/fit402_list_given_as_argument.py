import tensorflow as tf

@tf.function
def forward(x):
    h = tf.nn.relu(x)
    return tf.reduce_sum(h), h

acts = []
for _ in range(2):
    total, h = forward(tf.random.normal((4, 4)))
    acts.append(h)
