// The cart-pole problem: push a cart left or right so that the pole on it stays upright. After A. G. Barto, R. S. Sutton and
// C. W. Anderson (1983), with the constants of Gym's CartPole-v1.

const kGravity = 9.8;
const kCartMass = 1;
const kPoleMass = 0.1;
const kHalfLength = 0.5;
const kForce = 10;
const kSeconds = 0.02;
const kMostSteps = 500;
const kMostAngle = (12 * Math.PI) / 180;
const kMostDistance = 2.4;

/** A game: position and velocity of the cart, angle and angular velocity of the pole. */
export class CartPole {
  static stateSize = 4;
  static actions = 2;

  /** Starts almost upright, from four small numbers. */
  constructor(start) {
    this.state = [...start];
    this.steps = 0;
  }

  /** Whether the pole has fallen, or the cart has left the track. */
  get hasFallen() {
    const [place, , angle] = this.state;
    return Math.abs(place) > kMostDistance || Math.abs(angle) > kMostAngle;
  }

  get isOver() {
    return this.hasFallen || this.steps >= kMostSteps;
  }

  /** Pushes the cart to the left (0) or right (1) for one time step. */
  push(action) {
    const [place, speed, angle, turn] = this.state;
    const force = action === 1 ? kForce : -kForce;
    const mass = kCartMass + kPoleMass;
    const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
    const pull = (force + kPoleMass * kHalfLength * turn ** 2 * sin) / mass;
    const resistance = kHalfLength * (4 / 3 - (kPoleMass * cos ** 2) / mass);
    const turning = (kGravity * sin - cos * pull) / resistance;
    const pushing = pull - (kPoleMass * kHalfLength * turning * cos) / mass;
    this.state = [
      place + kSeconds * speed,
      speed + kSeconds * pushing,
      angle + kSeconds * turn,
      turn + kSeconds * turning,
    ];
    this.steps++;
  }
}
