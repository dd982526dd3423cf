import tensorflow as tf
x = tf.constant(3.0)
for i in range(5):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x ** 3 - 2 * x
    g = tape.gradient(y, x)
    x = x - 0.05 * g
print(float(x))
w = tf.Variable(1.0)
best = w
for i in range(3):
    with tf.GradientTape() as tape:
        loss = (w - 2.0) ** 2
    g = tape.gradient(loss, w)
    w.assign(w - 0.1 * g)
    best = best + 0.0
print(float(w))
