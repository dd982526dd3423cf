import tensorflow as tf
import numpy as np

class FlexDense(tf.Module):
    def __init__(self, out):
        super().__init__()
        self.built = False
        self.out = out
    def __call__(self, x):
        if not self.built:
            self.w = tf.Variable(tf.random.normal([x.shape[-1], self.out]), name='w')
            self.b = tf.Variable(tf.zeros([self.out]), name='b')
            self.built = True
        return tf.nn.relu(tf.matmul(x, self.w) + self.b)

class MLP(tf.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = FlexDense(8), FlexDense(1)
    @tf.function
    def __call__(self, x):
        return self.l2(self.l1(x))

net = MLP()
x = tf.random.normal((16, 3))
y = tf.reduce_sum(x, 1, keepdims=True)
net(x)
opt = tf.keras.optimizers.Adam(0.01)

@tf.function
def step():
    with tf.GradientTape() as t:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    vs = net.trainable_variables
    g = t.gradient(loss, vs)
    g, _ = tf.clip_by_global_norm(g, 1.0)
    opt.apply_gradients(zip(g, vs))
    return loss
for _ in range(3):
    print(float(step()))
