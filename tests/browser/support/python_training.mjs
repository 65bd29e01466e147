// A program of Python that trains, for the tests that run edgegrad.torch in a page.

/** Trains a small network on products of two numbers; `torch` and `nn` have been imported. `loss` is then below kMostLoss. */
export const kPythonTraining = `
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
x = torch.rand(128, 2)
y = x[:, :1] * x[:, 1:]
for _ in range(60):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
`;

/** The loss that the program gets below. */
export const kMostLoss = 0.02;
