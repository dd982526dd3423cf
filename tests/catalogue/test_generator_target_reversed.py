"""Labels for generated samples in the two steps of a GAN (FIT335)."""

from __future__ import annotations

import pytest

from tests.catalogue.contract_programs import found

GAN = """
bce = keras.losses.BinaryCrossentropy(from_logits=True)

class GAN(keras.Model):
    def __init__(self, gen, disc):
        super().__init__()
        self.gen, self.disc = gen, disc

    def train_step(self, real):
        z = tf.random.normal((8, 4))
        with tf.GradientTape() as tape:
            real_score = self.disc(real, training=True)
            fake_score = self.disc(self.gen(z), training=True)
            d_loss = bce(tf.{real}_like(real_score), real_score) + bce(tf.{fake}_like(fake_score), fake_score)
        grads = tape.gradient(d_loss, self.disc.trainable_variables)
        self.d_opt.apply_gradients(zip(grads, self.disc.trainable_variables))
        with tf.GradientTape() as tape:
            score = self.disc(self.gen(z, training=True))
            g_loss = {generator}
        grads = tape.gradient(g_loss, self.gen.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.gen.trainable_variables))
        return {{"d": d_loss, "g": g_loss}}
"""


def said(generator: str, real: str = "ones", fake: str = "zeros") -> list[str]:
    return [each.message for each in found(GAN.format(generator=generator, real=real, fake=fake), "FIT335")]


@pytest.mark.parametrize(
    ("generator", "real", "fake"),
    [
        ("bce(tf.zeros_like(score), score)", "ones", "zeros"),
        ("0.5 * bce(tf.zeros_like(score), score) + tf.reduce_mean(score)", "ones", "zeros"),
        ("bce(tf.ones_like(score), score)", "zeros", "ones"),
    ],
)
def test_a_generator_that_learns_to_be_recognized(generator: str, real: str, fake: str) -> None:
    assert len(said(generator, real, fake)) == 1


@pytest.mark.parametrize(
    ("generator", "real", "fake"),
    [
        ("bce(tf.ones_like(score), score)", "ones", "zeros"),
        # Keras's examples label generated samples with 1.
        ("bce(tf.zeros_like(score), score)", "zeros", "ones"),
        # The original game: the generator maximizes what the discriminator minimizes.
        ("-bce(tf.zeros_like(score), score)", "ones", "zeros"),
        ("-1.0 * bce(tf.zeros_like(score), score)", "ones", "zeros"),
        ("tf.reduce_mean(score) - bce(tf.zeros_like(score), score)", "ones", "zeros"),
        ("-tf.reduce_mean(score)", "ones", "zeros"),
    ],
)
def test_a_generator_that_learns_to_deceive(generator: str, real: str, fake: str) -> None:
    assert said(generator, real, fake) == []
